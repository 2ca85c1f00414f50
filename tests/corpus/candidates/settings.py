"""settings.py - protections that are switched off or protect nothing, and settings beside them that are right. The
marks are those of test_examples.c."""
import hmac
import os
import random
import secrets
import ssl

import jwt
import requests
import urllib3
from Crypto.Cipher import AES, ARC4
from cryptography.hazmat.primitives.ciphers import modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def read_prices(address):
    return requests.get(address, timeout=9, verify=False)  # FIRES certificate-check/request


def open_shop(session):
    session.verify = False  # FIRES certificate-check/session


def context_of_shop():
    context = ssl.create_default_context()
    context.check_hostname = False  # FIRES certificate-check/context missing-null-check/result-of-any
    context.verify_mode = ssl.CERT_NONE
    return context


def pool_of_shop():
    return urllib3.PoolManager(cert_reqs='CERT_NONE')  # FIRES certificate-check/requirement


def context_of_feed():
    return ssl._create_unverified_context()  # FIRES certificate-check/unverified-context


def begin():
    ssl._create_default_https_context = ssl._create_unverified_context  # FIRES certificate-check/default-context


def quiet_certificate_check_requests(address, session, verify):
    session.verify = '/etc/ssl/own.pem'
    requests.get(address, timeout=9, verify=verify)
    return requests.get(address, timeout=9)


def quiet_certificate_check_option(insecure, verify):
    context = ssl.create_default_context()
    if insecure:
        context.check_hostname = False  # FIRES missing-null-check/result-of-any
        context.verify_mode = ssl.CERT_NONE
    return urllib3.PoolManager(cert_reqs=ssl.CERT_REQUIRED if verify else ssl.CERT_NONE)


def user_of(request):
    token = request.headers['Authorization']  # FIRES missing-null-check/chain
    claims = jwt.decode(token, options={"verify_signature": False})  # FIRES unverified-token/unsigned
    return claims['sub']  # FIRES missing-null-check/result-of-any


def claims_of(token, key):
    return jwt.decode(token, key, algorithms=["none", "HS256"])  # FIRES unverified-token/none


def quiet_unverified_token_kid(request, keys):
    token = request.headers['Authorization']  # FIRES missing-null-check/chain
    claims = jwt.decode(token, options={"verify_signature": False})
    return jwt.decode(token, keys[claims['iss']], algorithms=["RS256"])  # FIRES missing-bounds-check/element missing-null-check/result-of-any


def quiet_unverified_token_expiry(token):
    return jwt.decode(token, options={"verify_signature": False})['exp']


def seal_blocks(key, text):
    return AES.new(key, AES.MODE_ECB).encrypt(text)  # FIRES weak-cipher/ecb


def seal_stream(key, text):
    return ARC4.new(key).encrypt(text)  # FIRES weak-cipher/call


def seal_letter(key, text):
    return AES.new(key, AES.MODE_CBC, b'0123456789abcdef').encrypt(text)  # FIRES weak-cipher/fixed-iv


def mode_of_letter():
    start = b'\0' * 16
    return modes.CBC(start)  # FIRES weak-cipher/fixed-mode-iv


def seal_note(key, text):
    aesgcm = AESGCM(key)
    return aesgcm.encrypt(b'nonce-of-it', text, None)  # FIRES weak-cipher/fixed-nonce missing-null-check/result-of-any


def quiet_weak_cipher_start(key, text, start):
    aesgcm = AESGCM(key)
    first = os.urandom(12)
    AES.new(key, AES.MODE_CBC, start)
    modes.CBC(start.encode('ascii'))
    modes.GCM(os.urandom(12))
    return first + aesgcm.encrypt(first, text, None)  # FIRES missing-null-check/result-of-any


def share_file(path):
    os.chmod(path, 0o777)  # FIRES open-permissions/chmod


def share_path(path):
    path.chmod(0o666)  # FIRES open-permissions/path-chmod


def quiet_open_permissions_modes(path, mode):
    os.chmod(path, 0o755)
    os.chmod(path, mode)
    path.chmod(0o600)


SECRET_KEY = os.environ.get('SECRET_KEY', 'not-so-long')  # FIRES hardcoded-secret/fallback
COOKIE_SECRET = os.environ.get('COOKIE_SECRET') or 'also-short'  # FIRES hardcoded-secret/fallback-or
HOOK_LABEL = 'label-of-hooks'


app.config['SECRET_KEY'] = 'secret'  # FIRES hardcoded-secret/app-key missing-null-check/chain


class DevelopmentConfig:
    SECRET_KEY = os.environ.get('SECRET_KEY', 'for-this-machine')


def sign_claims(claims):
    return jwt.encode(claims, 'what-we-sign-by', algorithm='HS256')  # FIRES hardcoded-secret/signs


def sign_hook(body):
    hook_key = b'what-hooks-use'
    return hmac.new(hook_key, body, 'sha256').hexdigest()  # FIRES hardcoded-secret/hmac


def quiet_hardcoded_secret_given(claims, key, body):
    os.environ.get('SECRET_KEY', '')
    os.environ.get('SECRET_NAME', 'name-of-it')
    hmac.new(b'WebData', body, 'sha256')
    hmac.new(key, body, 'sha256')
    return jwt.encode(claims, key, algorithm='HS256')


def invite(letters):
    access_token = ''.join(random.choice(letters) for _ in range(20))  # FIRES weak-hash/guessed-value
    return access_token


def quiet_weak_hash_colour(letters):
    colour = random.choice(letters)
    access_token = ''.join(secrets.choice(letters) for _ in range(20))
    return colour + access_token
