//! settings.rs - protections that are switched off or protect nothing, and settings beside them that are right. The
//! marks are those of test_examples.c.

fn client_of_shop(builder: ClientBuilder) -> ClientBuilder {
    builder.danger_accept_invalid_certs(true) // FIRES certificate-check/accepts
}

fn connector_of_shop(connector: &mut SslConnectorBuilder) {
    connector.set_verify(SslVerifyMode::NONE); // FIRES certificate-check/verify-mode
}

fn quiet_certificate_check_option(builder: ClientBuilder, insecure: bool) -> ClientBuilder {
    builder.danger_accept_invalid_certs(insecure)
}

fn quiet_certificate_check_mode(connector: &mut SslConnectorBuilder) {
    connector.set_verify(SslVerifyMode::PEER);
}

fn block_of(key: &Key) -> Des {
    Des::new(key) // FIRES weak-cipher/call
}

fn seal_note(cipher: &Aes256Gcm, text: &[u8]) -> Sealed {
    cipher.encrypt(Nonce::from_slice(b"twelve-bytes"), text) // FIRES weak-cipher/fixed-nonce
}

fn quiet_weak_cipher_start(cipher: &Aes256Gcm, nonce: &[u8], text: &[u8]) -> Sealed {
    cipher.encrypt(Nonce::from_slice(nonce), text)
}

fn share_file() -> Permissions {
    Permissions::from_mode(0o777) // FIRES open-permissions/mode
}

fn quiet_open_permissions_own() -> Permissions {
    Permissions::from_mode(0o600)
}
