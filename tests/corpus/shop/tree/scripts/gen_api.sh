#!/usr/bin/env bash
# Makes the API types of the gateway and the storefront anew from docs/openapi.yaml.
set -euo pipefail
cd "$(dirname "$0")/.."
apigen --lang go --package gen --out gateway/gen/api_types.go docs/openapi.yaml
apigen --lang typescript --out storefront/src/generated/api.ts docs/openapi.yaml
git diff --exit-code --stat -- gateway/gen storefront/src/generated || echo "the generated types have changed: commit them"
