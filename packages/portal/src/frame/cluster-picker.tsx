import { useCounts } from '../gateway/counts.ts'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import { NamePicker } from './name-picker.tsx'
import styles from './name-picker.module.css'

const said = words.frame.scope

/** The clusters of the scope: one, several or all; where the gateway has several. */
export function ClusterPicker() {
  const { scope, setScope } = useScope()
  const { all, clusters } = useCounts()
  if (all === undefined || all.length < 2) return null
  const chosen = clusters.map(({ name }) => name)
  const isAll = scope.clusters?.[0] === '*'
  const away = new Set(all.filter(({ state }) => state !== 'CONNECTED').map(({ name }) => name))
  const choose = (next: readonly string[]): void => {
    // Namespaces of other clusters are others, even of the same name.
    const isOther = next[0] !== '*' && !next.some((name) => chosen.includes(name))
    setScope({ ...scope, clusters: next, ...(isOther ? { namespaces: [] } : {}) })
  }
  const clear = {
    label: said.allClusters,
    run: (close: () => void): void => {
      choose(['*'])
      close()
    },
  }
  return (
    <NamePicker
      icon="cluster"
      title={said.cluster}
      namesFor={() => all.map(({ name }) => name)}
      chosen={isAll ? [] : chosen}
      noneLabel={said.allClusters}
      manyLabel={said.someClusters}
      choose={choose}
      find={said.findCluster}
      empty={said.noCluster}
      clear={isAll ? undefined : clear}
      item={(name, close) => (
        <>
          <span className={styles['name']}>{name}</span>
          {away.has(name) ? <span className={styles['away']}>{said.away}</span> : null}
          {/* For the pointer: the keyboard chooses this one and takes back the others. */}
          <span
            aria-hidden="true"
            className={styles['only']}
            onClick={(event) => {
              event.stopPropagation()
              choose([name])
              close()
            }}
          >
            {said.only}
          </span>
        </>
      )}
    />
  )
}
