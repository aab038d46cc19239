import { listAt, membersAt, textAt } from './json.ts'
import type { SeenObject } from './live-object.ts'
import { words } from '../words.ts'
import { Age } from '../look/age.tsx'
import { pageWords } from './page-words.ts'
import { Section } from './section.tsx'
import styles from './summary.module.css'

/** What a node has, what of it pods may have, and which pods it keeps away. */
export function NodeParts({ object: { json } }: { readonly object: SeenObject }) {
  const say = pageWords.node
  const allocatable = new Map(membersAt(json, 'status', 'allocatable'))
  const resources = membersAt(json, 'status', 'capacity')
  const taints = listAt(json, 'spec', 'taints')
  return (
    <>
      {resources.length === 0 ? null : (
        <Section title={say.resources}>
          <table className={styles['table']}>
            <thead>
              <tr>
                <th scope="col">{say.resource}</th>
                <th scope="col">{say.capacity}</th>
                <th scope="col">{say.allocatable}</th>
              </tr>
            </thead>
            <tbody>
              {resources.map(([name, amount]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td title={amount}>{words.object.quantity(amount)}</td>
                  <td title={allocatable.get(name)}>
                    {words.object.quantity(allocatable.get(name) ?? '0')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
      <Section title={say.taints} {...(taints.length === 0 ? {} : { count: taints.length })}>
        {taints.length === 0 ? (
          <p className={styles['dim']}>{say.noTaints}</p>
        ) : (
          <ul className={styles['containers']}>
            {taints.map((taint) => {
              const [key = '', value] = [textAt(taint, 'key'), textAt(taint, 'value')]
              const effect = textAt(taint, 'effect') ?? ''
              const since = textAt(taint, 'timeAdded')
              const meaning = (say.effects as Readonly<Record<string, string>>)[effect]
              return (
                <li key={`${key} ${effect}`} className={styles['container']}>
                  <code>
                    {key}
                    {value === undefined ? '' : `=${value}`}:{effect}
                  </code>{' '}
                  <span className={styles['dim']}>
                    {meaning}
                    {since === undefined ? null : (
                      <>
                        , <Age since={since} />
                      </>
                    )}
                  </span>
                </li>
              )
            })}
          </ul>
        )}
      </Section>
    </>
  )
}
