/** A document whose result and variables are typed: of gql.tada, or of graphql-codegen's client preset, in either of its modes. */
export interface TypedDocument<Result, Variables> {
  // A method, as they write it: so that documents with fewer variables fit where more are given.
  __apiType?(variables: Variables): Result
}

/** The document of a subscription: its text, a typed one, or one that has been parsed. */
export type LiveDocument<Result, Variables> = string | TypedDocument<Result, Variables>

/**
 * The text of a document. A parsed one tells the text that it was parsed from. Throws `TypeError` where it does not: print it,
 * then.
 */
export function documentText(document: string | object): string {
  if (typeof document === 'string') return document
  // A String object is what the client preset of graphql-codegen writes in its mode `string`.
  const value: unknown = document.valueOf()
  if (typeof value === 'string') return value
  const { loc } = document as {
    readonly loc?: { readonly source?: { readonly body?: unknown } | undefined } | undefined
  }
  const text = loc?.source?.body
  if (typeof text === 'string') return text
  throw new TypeError(
    'the document does not tell its text: pass the text, such as print(document) of the package graphql makes it',
  )
}
