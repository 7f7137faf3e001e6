#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# OpenFOAM: the flow in a square box whose lid moves; prints the residuals of its last step.
export WM_PROJECT_DIR=/usr/share/openfoam
mkdir -p 0 constant system
# dictionary FILE [CLASS]: with that text, from standard input.
dictionary()
{
	object=${1##*/}
	{
		echo "FoamFile { version 2.0; format ascii; class ${2-dictionary}; object $object; }"
		cat
	} >"$1"
}
dictionary system/blockMeshDict <<'END'
scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (16 16 1) simpleGrading (1 1 1));
boundary
(
	lid { type wall; faces ((3 7 6 2)); }
	walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
	sides { type empty; faces ((0 3 2 1) (4 5 6 7)); }
);
END
dictionary system/controlDict <<'END'
startFrom startTime; startTime 0; stopAt endTime; endTime 0.05; deltaT 0.005;
writeControl timeStep; writeInterval 10; timePrecision 6; writePrecision 6;
END
dictionary system/fvSchemes <<'END'
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
END
dictionary system/fvSolution <<'END'
solvers
{
	p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; }
	pFinal { $p; relTol 0; }
	U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
END
dictionary constant/transportProperties <<'END'
nu 0.01;
END
dictionary 0/p volScalarField <<'END'
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField { lid { type zeroGradient; } walls { type zeroGradient; } sides { type empty; } }
END
dictionary 0/U volVectorField <<'END'
dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 0);
boundaryField { lid { type fixedValue; value uniform (1 0 0); } walls { type noSlip; } sides { type empty; } }
END
{ blockMesh && icoFoam; } >log 2>&1 || { tail -n 30 log; exit 1; }
sed -n '/^Time = 0.05$/,/^Execution/{/Execution/!p}' log
cksum <0.05/U | cut -d' ' -f1
