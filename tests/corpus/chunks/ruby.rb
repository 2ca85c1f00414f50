require "sinatra"
require_relative "models/user"

LIMIT = 5

module Accounts
  # Finds and greets users.
  class Greeter < Base
    def greet(name)
      "Hello, #{lookup(name)}"
    end

    def self.build
      new
    end

    private

    def lookup(name)
      User.find_by(name: name)
    end
  end
end

get "/hello/:name" do
  Accounts::Greeter.build.greet(params[:name])
end

describe "Greeter" do
  it "greets" do
    expect(Accounts::Greeter.build).to be
  end
end

# Names that calls and operators define.
class Money
  attr_reader :amount, :currency
  alias to_i amount
  alias :sum :amount
  alias_method :total, :amount
  define_method(:zero?) { amount.zero? }
  validates :amount

  def [](key) = @parts[key]

  def []=(key, value)
    @parts[key] = value
  end

  def <=>(other)
    amount <=> other.amount
  end

  def rate=(rate)
    @rate = rate
  end
end
