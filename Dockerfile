# docker build -t attention-explorer . && docker run -p 8501:8501 attention-explorer
# For a graphics card: docker build --build-arg TORCH=cuda -t attention-explorer .
# Runs as user 1000, as Hugging Face Spaces ask for.
FROM python:3.11-slim
ARG TORCH=cpu

RUN useradd --create-home --uid 1000 explorer
WORKDIR /home/explorer/app

# The CPU build of torch comes first: the default one brings gigabytes of CUDA.
COPY requirements.txt requirements-lti.txt ./
RUN if [ "$TORCH" = cpu ]; then \
        pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu "$(grep -o '^torch==[^ ]*' requirements.txt)"; \
    fi \
    && pip install --no-cache-dir -r requirements-lti.txt

COPY --chown=explorer . .
USER explorer
EXPOSE 8501
HEALTHCHECK --start-period=20s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health')"]
CMD ["streamlit", "run", "app.py", "--server.port", "8501", "--server.address", "0.0.0.0", "--server.headless", "true"]
