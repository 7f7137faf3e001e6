#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A server, clients of it, a snapshot written by its child, and its end.
socket=$PWD/redis.sock
redis-server --port 0 --unixsocket "$socket" --save '' --dir "$PWD" --daemonize yes >redis.log
until redis-cli -s "$socket" ping 2>/dev/null | grep -q PONG; do sleep 0.2; done
redis-cli -s "$socket" set a 1
redis-cli -s "$socket" incr a
redis-cli -s "$socket" eval 'return redis.call("get", "a") + 40' 0
redis-benchmark -s "$socket" -n 300 -c 4 -q -t set,lpush >redis.bench && grep -c 'per second' redis.bench
redis-cli -s "$socket" save
ls dump.rdb
redis-cli -s "$socket" shutdown nosave
