/** What the functions of dom.js take. */

export type Child = Node | string | number | false | null | undefined | readonly Child[];

/** The element's own event handlers and attributes; null, undefined and false leave one out. */
export type Properties<E> = {
  [name in HandlerName]?: (event: EventOf<E>) => unknown;
} & {
  [name in AttributeName]?: string | number | boolean | null | undefined;
};

type EventOf<E> = Event & { readonly currentTarget: E };
export type ButtonEvent = EventOf<HTMLButtonElement>;
export type FormEvent = EventOf<HTMLFormElement>;

export type HandlerName = 'onclick' | 'onsubmit' | 'oninput' | 'onchange';

type AttributeName =
  | `aria-${string}`
  | `data-${string}`
  | 'autocomplete'
  | 'checked'
  | 'class'
  | 'cx'
  | 'cy'
  | 'd'
  | 'datetime'
  | 'dir'
  | 'disabled'
  | 'download'
  | 'fill'
  | 'for'
  | 'href'
  | 'id'
  | 'list'
  | 'max'
  | 'maxlength'
  | 'name'
  | 'open'
  | 'placeholder'
  | 'r'
  | 'required'
  | 'role'
  | 'rows'
  | 'scope'
  | 'selected'
  | 'size'
  | 'spellcheck'
  | 'step'
  | 'tabindex'
  | 'title'
  | 'type'
  | 'value'
  | 'viewBox';
