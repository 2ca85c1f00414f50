using System;
using System.Collections.Generic;

namespace Shop.Orders
{
    /// <summary>Prices of a basket.</summary>
    public class PriceService : IPriceService
    {
        private readonly List<Item> items;

        public PriceService(List<Item> items)
        {
            this.items = items;
        }

        public decimal Total { get; set; }

        [HttpGet("/total")]
        public decimal GetTotal()
        {
            return Sum(items);
        }

        private decimal Sum(List<Item> list)
        {
            return Calculator.Add(list);
        }

        [Fact]
        public void TotalOfNothing()
        {
            Assert.Equal(0, GetTotal());
        }
    }

    public enum Currency { Euro, Dollar }

    public interface IPriceService
    {
        decimal GetTotal();
    }
}

public class Ticker
{
    public event EventHandler Ticked;
    public event EventHandler Stopped { add { } remove { } }
}
