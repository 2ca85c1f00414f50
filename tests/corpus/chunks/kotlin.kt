package shop

import java.util.UUID

const val LIMIT = 10

/** One user. */
data class User(val id: UUID, val name: String)

interface UserSource {
    fun find(name: String): User?
}

class UserService(private val source: UserSource) {
    @GetMapping("/user")
    fun user(name: String): User? = source.find(name)

    private fun hidden() = normalise("x")

    @Test
    fun findsNobody() {
        user("x")
    }
}

object Registry {
    fun register(user: User) = println(user)
}

fun normalise(name: String): String {
    return name.trim()
}

fun Application.module() {
    routing {
        get("/users") {
            call.respond(normalise("y"))
        }
    }
}

enum class Level(val weight: Int) { LOW(1), HIGH(2) }

class Basket(limit: Int) : Table("basket") {
    val total = decimal("total")
    private var count: Int = 0

    companion object Factory {
        const val EMPTY = 0
    }

    fun sum(): Int {
        val local = count
        return local
    }
}

actual open class Weighed
internal actual constructor(
    val weight: Int,
) : Comparable<Weighed> {
    private var final = false

    fun close() {
        if (!final) final = true
    }
}
