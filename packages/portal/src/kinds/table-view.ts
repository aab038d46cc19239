/** What a user has made of a table: all of it is in the address of its page. */
export interface TableView {
  /** The filter, as it is typed: `phase:Running label:app=web`. */
  readonly q?: string | undefined
  /** The order: `restarts`, `-restarts`. */
  readonly sort?: string | undefined
  /** The columns besides the usual ones; with `-`, usual ones that are hidden. */
  readonly cols?: string | undefined
  /** The `nameId`s of the objects that are picked, or their `id`s, joined by commas. */
  readonly picked?: string | undefined
  /** The `nameId` of the object in the inspector, or its `id`. */
  readonly open?: string | undefined
  /** The tab of the inspector. */
  readonly tab?: string | undefined
  /** What the user has made of the logs in the inspector. */
  readonly logs?: string | undefined
  /** What the user has made of the history in the inspector. */
  readonly history?: string | undefined
}
