"""readers.py - what reads texts from outside as more than texts. The marks are those of test_examples.c."""
import ldap
import tarfile
import zipfile


def parser():
    return etree.XMLParser(resolve_entities=True, no_network=False)  # FIRES xml-entities/opened


def reader():
    made = make_parser()
    made.setFeature(feature_external_ges, True)  # FIRES xml-entities/feature missing-null-check/result-of-any
    return made


def quiet_xml_entities_closed():
    made = make_parser()
    made.setFeature(feature_external_ges, False)  # FIRES missing-null-check/result-of-any
    return made, etree.XMLParser(resolve_entities=False), etree.XMLParser(remove_blank_text=True)


def find(conn, login):
    query = f"(&(objectClass=person)(uid={login}))"  # FIRES ldap-injection/filter
    return conn.list(query)


def find_at(conn, login):
    return conn.search_s("ou=people", 2, "(uid=%s)" % login)  # FIRES ldap-injection/search


def quiet_ldap_injection_escaped(conn, login):
    name = ldap.filter.escape_filter_chars(login)
    return conn.search_s("ou=people", 2, f"(uid={name})")


def asked(text):
    return re.search(request.args["pattern"], text)  # FIRES regex-injection/request missing-null-check/chain


def quiet_regex_injection_escaped(text):
    return re.search(re.escape(request.args["word"]), text)  # FIRES missing-null-check/chain


def unpack_names(archive, folder):
    with zipfile.ZipFile(archive) as opened:  # FIRES path-traversal/parameter
        for name in opened.namelist():
            target = os.path.join(folder, name)  # FIRES path-traversal/archive missing-null-check/chain
            with opened.open(name) as source, open(target, "wb") as to:  # FIRES path-traversal/made
                shutil.copyfileobj(source, to)


def unpack_infos(archive, folder):
    with zipfile.ZipFile(archive) as opened:  # FIRES path-traversal/parameter
        for info in opened.infolist():
            target = folder / info.filename  # FIRES path-traversal/archive
            target.write_bytes(opened.read(info))


def unpack_all(archive, folder):
    with tarfile.open(archive) as opened:  # FIRES path-traversal/parameter
        opened.extractall(folder)  # FIRES path-traversal/unpacked


def unpack_either(archive, folder, ext):
    if ext == ".tar":
        opened = tarfile.open(archive)  # FIRES path-traversal/parameter
        opened.extractall(folder)  # FIRES path-traversal/unpacked missing-null-check/result-of-any
    else:
        box = zipfile.ZipFile(archive)  # FIRES path-traversal/parameter
        box.extractall(folder)  # FIRES path-traversal/parameter
        with zipfile.ZipFile(archive) as second:  # FIRES path-traversal/parameter
            second.extractall(folder)


def quiet_path_traversal_filtered(archive):
    with tarfile.open(mode="r:gz", fileobj=archive) as opened:
        opened.extractall(FOLDER, filter="data")


def quiet_path_traversal_checked(box, folder):
    with zipfile.ZipFile(box.archive) as opened:
        for info in opened.infolist():
            target = folder / info.filename
            if not target.is_relative_to(folder):
                raise ValueError(info.filename)
            target.write_bytes(opened.read(info))


def series():
    return np.load(io.BytesIO(request.get_data()), allow_pickle=True)  # FIRES unsafe-deserialization/arrays


def model():
    request.files["model"].save(MODEL_PATH)  # FIRES missing-null-check/chain
    return joblib.load(MODEL_PATH)  # FIRES unsafe-deserialization/uploaded


def quiet_unsafe_deserialization_numbers():
    return np.load(io.BytesIO(request.get_data()))
