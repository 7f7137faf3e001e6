# SPDX-License-Identifier: GPL-2.0-or-later
"""PyTorch: three threads multiply, transform and learn a line."""
import torch

torch.manual_seed(1)
torch.set_num_threads(3)
a = torch.randn(300, 300, dtype=torch.float64)
print(f"{torch.linalg.norm(a @ a.T):.6f} {torch.fft.fft(a[0]).abs().sum():.6f}")
x = torch.linspace(-1, 1, 1000, dtype=torch.float64).unsqueeze(1)
line = torch.nn.Linear(1, 1).double()
steps = torch.optim.SGD(line.parameters(), lr=0.3)
for _ in range(100):
    steps.zero_grad()
    loss = torch.nn.functional.mse_loss(line(x), 3 * x + 2)
    loss.backward()
    steps.step()
print(f"{line.weight.item():.4f} {line.bias.item():.4f}")
