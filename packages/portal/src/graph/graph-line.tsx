import { BaseEdge, type Edge, type EdgeProps } from '@xyflow/react'
import { nodeSize, type Place } from './layout.ts'

/** A line, and where it passes the columns between its ends. */
export type DrawnLine = Edge<{ readonly passages: readonly Place[] }, 'line'>

/** A line that is level in the columns that it passes, and curved between columns, where no nodes are. */
export function GraphLine({
  sourceX,
  sourceY,
  targetX,
  targetY,
  data,
  label,
  interactionWidth,
}: EdgeProps<DrawnLine>) {
  // What leads back begins at the left of its node.
  const back = targetX < sourceX ? nodeSize.width : 0
  const half = back > 0 ? -nodeSize.width / 2 : nodeSize.width / 2
  let at = { x: sourceX - back, y: sourceY }
  const first = at
  const curves = [
    ...(data?.passages ?? []).map(({ x, y }) => ({ x: x - half, y, until: x + half })),
    { x: targetX + back, y: targetY, until: targetX + back },
  ].map(({ x, y, until }) => {
    const middle = (at.x + x) / 2
    const curve = `C${middle},${at.y} ${middle},${y} ${x},${y} H${until}`
    const labelled = { x: middle, y: (at.y + y) / 2 }
    at = { x: until, y }
    return { curve, labelled }
  })
  const { x, y } = curves[0]?.labelled ?? first
  return (
    <BaseEdge
      path={`M${first.x},${first.y} ${curves.map(({ curve }) => curve).join(' ')}`}
      label={label}
      labelX={x}
      labelY={y}
      {...(interactionWidth === undefined ? {} : { interactionWidth })}
    />
  )
}
