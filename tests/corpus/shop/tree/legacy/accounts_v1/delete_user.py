"""Removing customers, the way the old back office did it. Anybody in the office could."""


class Office:
    def __init__(self, connection, staff):
        self.connection = connection
        self.staff = staff

    def may_delete(self, who):
        return who in self.staff

    def delete_user(self, who, email):
        """Deletes the user and, through the foreign keys, everything of the user."""
        if not self.may_delete(who):
            raise PermissionError("%s does not work here" % who)
        self.connection.table("customers").where(email=email).remove()
        self.log("%s removed %s" % (who, email))

    def log(self, line):
        with open("office.log", "a", encoding="utf-8") as f:
            f.write(line + "\n")
