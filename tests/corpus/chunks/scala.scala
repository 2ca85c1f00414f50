package shop

import scala.collection.mutable

/** Prices. */
trait Priced {
  def price: Int
}

case class Item(name: String, price: Int) extends Priced

object Basket {
  val limit = 10

  def total(items: Seq[Item]): Int = {
    items.map(_.price).sum + fee(items.size)
  }

  private def fee(n: Int): Int = if (n > limit) 1 else 0
}

class BasketSpec extends AnyFunSuite {
  test("empty basket") {
    assert(Basket.total(Nil) == 0)
  }
}
