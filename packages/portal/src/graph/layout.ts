/** What a layout needs of a picture. */
export interface LayoutRequest {
  readonly number: number
  readonly nodes: readonly {
    readonly id: string
    readonly width: number
    readonly height: number
  }[]
  /** `span`: the columns that the edge spans, at least 1. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly span: number }[]
}

export interface Place {
  readonly x: number
  readonly y: number
}

/** The upper left corner of each node. */
export interface LayoutAnswer {
  readonly number: number
  readonly places: ReadonlyMap<string, Place>
}
