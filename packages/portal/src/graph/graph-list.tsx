import { Health } from '../look/health.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import { words } from '../words.ts'
import { type ObjectNode, type Picture, relationWords } from './graph-model.ts'
import styles from './object-graph.module.css'

/** The picture as a table: each object, its health, and what leads from it to others. */
export function GraphList({ picture: { nodes, edges } }: { readonly picture: Picture }) {
  const objects = nodes.flatMap((node): readonly ObjectNode[] =>
    node.form === 'object' ? [node] : node.members,
  )
  const titles = new Map(
    nodes.map((node) => [
      node.id,
      node.form === 'object'
        ? `${node.kind} ${node.name}`
        : `${node.kind}: ${words.graph.folded(node.members.length, node.health)}`,
    ]),
  )
  const foldOf = new Map(
    nodes.flatMap((node) =>
      node.form === 'fold' ? node.members.map(({ id }) => [id, node.id] as const) : [],
    ),
  )
  return (
    <div className={styles['list']}>
      <table>
        <caption className="visually-hidden">{words.graph.title}</caption>
        <thead>
          <tr>
            <th scope="col">{words.graph.kind}</th>
            <th scope="col">{words.graph.name}</th>
            <th scope="col">{words.graph.health}</th>
            <th scope="col">{words.graph.leadsTo}</th>
          </tr>
        </thead>
        <tbody>
          {objects.map(({ id, address, kind, namespace, name, health, reason }) => (
            <tr key={id}>
              <td>{kind}</td>
              <td>
                <PlaceLink to={{ object: address }}>
                  {namespace === null ? name : `${namespace}/${name}`}
                </PlaceLink>
              </td>
              <td>
                <Health status={health} /> {health === 'HEALTHY' ? '' : reason}
              </td>
              <td>
                {edges
                  .filter(({ from }) => from === (foldOf.get(id) ?? id))
                  .map(
                    ({ to, relations }) =>
                      `${titles.get(to)} (${relations.map(relationWords).join(', ')})`,
                  )
                  .join('; ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
