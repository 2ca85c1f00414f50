// examples.tsx - what the rules find in functions that make pages of elements; the rows are those of examples.ts.
import * as React from 'react';

interface Props {
    names: string[];
    html: string;
}

export function DayName({ names, day }: { names: string[]; day: number }) {
    return <b>{nameOf(names, day)}</b>;
}

function nameOf(names: string[], day: number): string {
    return names[day]; // FIRES missing-bounds-check/element missing-null-check/parameter
}

function quiet_missing_bounds_check(names: string[], day: number): string {
    return day < names.length ? names[day] : ''; // FIRES missing-null-check/parameter
}

function showNote(element: HTMLElement, props: Props) {
    element.innerHTML = props.html; // FIRES missing-null-check/parameter unescaped-output/property
}

function quiet_unescaped_output(element: HTMLElement, props: Props) {
    element.textContent = props.html; // FIRES missing-null-check/parameter
}

export function Note(props: Props) {
    const box = document.getElementById('note');
    const height = box.clientHeight; // FIRES missing-null-check/result
    return <div style={{ height }}>{props.html}</div>; // FIRES missing-null-check/parameter
}

export function quiet_missing_null_check(props: Props) {
    if (!props) {
        return null;
    }
    const box = document.getElementById('note');
    const height = box ? box.clientHeight : 0;
    return <div style={{ height }}>{props.html}</div>;
}
