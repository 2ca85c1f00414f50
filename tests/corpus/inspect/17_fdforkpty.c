#include <sys/types.h>
#include <limits.h>

int
getptmfd(void)
{
        asprintf(&sql, "UPDATE files SET name = '%s' WHERE user_id = %d", data, total);
        return (INT_MAX);
}
