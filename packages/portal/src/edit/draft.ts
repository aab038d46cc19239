/** A text that is not applied yet, and the state that it was made of. */
export interface Draft {
  readonly base: Readonly<Record<string, unknown>>
  readonly text: string
}

const keyOf = (id: string): string => `informerql.draft.${id}`

/** The draft of an object, for this tab: it outlives other tabs of the object's page, a reload, and a new sign-in. */
export function draftOf(id: string): Draft | undefined {
  const kept = sessionStorage.getItem(keyOf(id))
  return kept === null ? undefined : (JSON.parse(kept) as Draft)
}

/** Keeps a draft; without one, forgets it. */
export function keepDraft(id: string, draft: Draft | undefined): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(keyOf(id))
    else sessionStorage.setItem(keyOf(id), JSON.stringify(draft))
  } catch {
    // The browser keeps no more: the text is in the editor all the same.
  }
}
