/** What is to be written of an object: a JSON object with these members, in this order. */
export interface ObjectSelection {
  readonly fields: readonly SelectedField[]
}

/** A decoded object, of which a text is made. */
type MadeOf = Readonly<Record<string, unknown>>

export interface SelectedField {
  /** The response key: the name of the member that is written. */
  readonly key: string
  /**
   * The properties from the enclosing object to the value: usually one; several go through nested objects
   * (`['metadata', 'uid']`), and where one of those is null or missing, so is the value. None: the enclosing object itself.
   */
  readonly path: readonly string[]
  readonly value: SelectedValue
}

/**
 * How a value is checked and written. What is of another shape than expected (a string for an object, say) is for the
 * slow way, as is null or nothing where something is `required`; otherwise those two are written as `null`.
 */
export type SelectedValue =
  /** A scalar; with `writeJson` any value as it is. */
  | { readonly form: 'leaf'; readonly write: LeafWriter }
  | { readonly form: 'object'; readonly selection: ObjectSelection; readonly required: boolean }
  | { readonly form: 'list'; readonly of: SelectedValue; readonly required: boolean }
  /** A map as the list of its entries, in JavaScript's order of keys. */
  | {
      readonly form: 'entries'
      readonly fields: readonly SelectedEntryField[]
      readonly required: boolean
    }
  /** The JSON text that a function makes of an object, which is decoded for it. It may depend on the object alone. */
  | { readonly form: 'made'; readonly make: (object: MadeOf) => string | undefined }
  /** The same JSON text for all objects, `__typename` for one. */
  | { readonly form: 'text'; readonly text: string }

/** A member of what is written for an entry of a map: its key, or its value, or a constant. */
export interface SelectedEntryField {
  readonly key: string
  readonly value: 'key' | SelectedValue
}

/**
 * From the JSON text of a value as it is held (`undefined`: there is none) to the JSON text that is written. The text
 * need not be as `JSON.stringify` would have it: servers write `\u003c` and `1.0`. `undefined`: the slow way must do.
 * Its answer may depend on the text alone.
 */
export type LeafWriter = (json: string | undefined) => string | undefined
