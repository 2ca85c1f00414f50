import React from "react";

type Props = { title: string };

/** A title with a button. */
export function Header({ title }: Props) {
    const onClick = () => track(title);
    return (
        <header>
            <h1>{title}</h1>
            <Button onClick={onClick}>Go</Button>
        </header>
    );
}
