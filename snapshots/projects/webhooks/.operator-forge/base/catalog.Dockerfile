# The image of the catalog, which serves the files that `make catalog` writes.
FROM quay.io/operator-framework/opm:v1.73.0
LABEL operators.operatorframework.io.index.configs.v1=/configs
COPY catalog /configs
# Fails if the catalog is invalid. The cache makes the start quick.
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
