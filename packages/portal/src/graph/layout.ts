/** What a layout needs of a picture. */
export interface LayoutRequest {
  readonly number: number
  readonly nodes: readonly {
    readonly id: string
    readonly width: number
    readonly height: number
  }[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
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
