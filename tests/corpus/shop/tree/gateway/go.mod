module fernhill.example/gateway

go 1.22
