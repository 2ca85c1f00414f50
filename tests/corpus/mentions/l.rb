=begin
@no limit
=end
MAX_DEPTH = 8
class Conf
  attr_accessor :limit
  def work
    @limit = MAX_DEPTH
    "#{limit} of #{MAX_DEPTH}"
  end
end
def long
  x = "two lines # of it
    lines" + MAX_DEPTH + "more" # of one
  y = "http://two
    // #{limit} // lines" + MAX_DEPTH + 'a' + limit + "b"
  z = '@no limit'
  q = ?" + limit
  "don't" + MAX_DEPTH
end
