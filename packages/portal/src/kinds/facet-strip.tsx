import { useLiveValue } from '@informerql/client/react'
import type { Kind } from '../gateway/kinds.ts'
import { LiveTableFacetsDocument } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './facet-strip.module.css'
import { quoted, type Token, tokenText } from './filter-text.ts'
import type { SuggestedList } from './suggestions.ts'

const valuesEach = 6
const mostFacets = 7

/** How the objects of a list are distributed over the values of its indexes. A value is one click from being the filter. */
export function FacetStrip({
  kind,
  list,
  tokens,
  toggle,
}: {
  readonly kind: Kind
  readonly list: SuggestedList
  readonly tokens: readonly Token[]
  /** Adds a token to the filter, or removes it. */
  readonly toggle: (token: string) => void
}) {
  const { scope, setScope } = useScope()
  const indexes = [...(list.clusters == null ? [] : ['cluster']), ...facetsOf(kind)]
  const { value: live, error } = useLiveValue({
    client: useGateway().socket,
    query: LiveTableFacetsDocument,
    variables: { ...list, by: indexes, top: valuesEach },
  })
  const chosen = new Set(tokens.map(tokenText))
  const total = live?.totalCount ?? 0
  const shown = (live?.facets ?? [])
    .filter(({ by, distinctCount, missingCount }) => {
      const isClosed = (kind.indexes.find(({ name }) => name === by)?.values ?? []).length > 0
      // An index with a value for each object tells them apart, and groups nothing.
      const groups = isClosed || distinctCount <= total / 2
      return groups && distinctCount + Math.min(missingCount, 1) > 1
    })
    .slice(0, mostFacets)
  if (live === undefined && error === undefined)
    return <div className={styles['strip']} aria-busy="true" />
  if (shown.length === 0) return <p className={styles['none']}>{words.table.noFacets}</p>
  return (
    <div className={styles['strip']} role="group" aria-label={words.table.facets}>
      {shown.map(({ by, values, distinctCount }) => (
        <section key={by} className={styles['facet']}>
          {/* The filter takes the name. */}
          <h2 className={styles['title']} title={by}>
            {wordsOf(by)}
          </h2>
          <ul>
            {values.map(({ value, count }) => {
              const text = typeof value === 'string' ? value : JSON.stringify(value)
              const token = `${by}:${quoted(by === 'health' ? text.toLowerCase() : text)}`
              return (
                <li key={text}>
                  <button
                    type="button"
                    className={styles['value']}
                    aria-pressed={chosen.has(token)}
                    title={text}
                    onClick={() => {
                      // Clusters are the table's scope, not its filter.
                      if (by === 'cluster') setScope({ ...scope, clusters: [text] })
                      else toggle(token)
                    }}
                  >
                    <span className={styles['text']}>{shortValue(by, text)}</span>
                    <span className={styles['count']}>{count.toLocaleString()}</span>
                    <span
                      aria-hidden="true"
                      className={styles['share']}
                      style={{ width: `${total === 0 ? 0 : (100 * count) / total}%` }}
                    />
                  </button>
                </li>
              )
            })}
          </ul>
          {distinctCount > values.length ? (
            <p className={styles['more']}>
              {words.table.moreValues(distinctCount - values.length)}
            </p>
          ) : null}
        </section>
      ))}
    </div>
  )
}

/** The name of an index in words: `nodeName` is `Node name`, `podIP` is `Pod IP`. */
function wordsOf(name: string): string {
  const parts = name.match(/[A-Z]+(?![a-z])|[A-Z]?[^A-Z_.]+/gu) ?? [name]
  const text = parts
    .map((part) => (/^[A-Z]{2,}$/u.test(part) ? part : part.toLowerCase()))
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A value in the space that there is: of images and other paths, the end tells them apart. */
function shortValue(by: string, text: string): string {
  return by === 'health' ? text.toLowerCase() : text.slice(text.lastIndexOf('/') + 1)
}

/** The indexes that may group objects: those with few values first. */
function facetsOf({ indexes, namespaced }: Kind): string[] {
  return indexes
    .filter(({ name, form }) => {
      if (name === 'namespace') return namespaced
      return name !== 'name' && /^(?:STRING|BOOLEAN|HEALTH_STATUS)$/u.test(form)
    })
    .toSorted((one, other) => weight(one) - weight(other))
    .map(({ name }) => name)
    .slice(0, 12)
}

/** The place of an index in the strip. */
function weight({ name, form, values }: Kind['indexes'][number]): number {
  if (name === 'health') return 0
  if (form === 'BOOLEAN' || (values ?? []).length > 0) return 1
  return name === 'namespace' ? 2 : 3
}
