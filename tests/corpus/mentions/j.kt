/* @no /* @no */ @no limit */
const val MAX_DEPTH = 8
var g_level = 0
class Conf(var limit: Int) {
    fun work(): String {
        g_level = MAX_DEPTH // @assigns
        limit = g_level // @assigns
        copy(limit = MAX_DEPTH)
        return "$limit of ${MAX_DEPTH} deep"
    }
}
