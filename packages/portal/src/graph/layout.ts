/** What a layout needs of a picture. */
export interface LayoutRequest {
  readonly number: number
  readonly nodes: readonly {
    readonly id: string
    readonly width: number
    readonly height: number
  }[]
  readonly edges: readonly Line[]
}

export interface Place {
  readonly x: number
  readonly y: number
}

export interface Line {
  readonly id: string
  readonly from: string
  readonly to: string
}

export type Bends = ReadonlyMap<string, readonly Place[]>

export interface Layout {
  /** The upper left corner of each node. */
  readonly places: ReadonlyMap<string, Place>
  /** Where each line passes the columns between its ends, among others. */
  readonly bends: Bends
}

export interface LayoutAnswer extends Layout {
  readonly number: number
}

/** The size of a drawn node, in pixels. */
export const nodeSize = { width: 208, height: 44 } as const
/** How near a line passes a node that is not its end: nodes of a column are 12 pixels apart at least. */
const linePx = 6

/**
 * Where a line passes the columns between its ends, so that it is behind no node: there it is level, and as near to its `bends`
 * as there is room.
 */
export function passages({ id, from, to }: Line, { places, bends }: Layout): readonly Place[] {
  const [start, end] = [places.get(from), places.get(to)]
  if (start === undefined || end === undefined) return []
  const isBetween = (x: number): boolean =>
    x > Math.min(start.x, end.x) && x < Math.max(start.x, end.x)
  const columns = Map.groupBy(
    [...places.values()].filter(({ x }) => isBetween(x)),
    ({ x }) => Math.round(x),
  )
  return [...columns]
    .toSorted(([a], [b]) => (a - b) * Math.sign(end.x - start.x))
    .map(([x, nodes]) => {
      const centre = x + nodeSize.width / 2
      const bend = bends.get(id)?.find((one) => Math.abs(one.x - centre) < nodeSize.width / 2)
      const straight = start.y + ((end.y - start.y) * (x - start.x)) / (end.x - start.x)
      return { x: centre, y: free(bend?.y ?? straight + nodeSize.height / 2, nodes) }
    })
}

/** The nearest height to `wanted` where no node of the column is. */
function free(wanted: number, nodes: readonly Place[]): number {
  const bounds = nodes.map(({ y }) => [y - linePx, y + nodeSize.height + linePx] as const)
  const all = [wanted, ...bounds.flat()].filter((y) =>
    bounds.every(([top, bottom]) => y <= top || y >= bottom),
  )
  return all.reduce((best, y) => (Math.abs(y - wanted) < Math.abs(best - wanted) ? y : best))
}
