#!/bin/sh
# Asks a deployment whether it is alive: ./smoke_test.sh https://staging.fernhill.example
base=${1:?usage: smoke_test.sh URL}
failed=0

check()
{
    want=$1 path=$2
    got=$(curl -s -o /dev/null -w '%{http_code}' --max-time 10 "$base$path")
    if [ "$got" = "$want" ]; then
        echo "ok   $path"
    else
        echo "FAIL $path: $got instead of $want"
        failed=1
    fi
}

check 200 /healthz
check 200 /
check 401 /users/me
check 404 /static/nothing-here.js
check 405 /auth/login
exit $failed
