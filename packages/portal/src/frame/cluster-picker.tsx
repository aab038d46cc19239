import { Combobox } from '@base-ui/react/combobox'
import { useState } from 'react'
import { useCounts } from '../gateway/counts.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './scope-picker.module.css'

const said = words.frame.scope
/** More than these are found by typing. */
const mostShown = 200
/** More letters than these are said as a number of clusters. */
const longest = 26

/** The clusters of the scope: one, several or all; where the gateway has several. */
export function ClusterPicker() {
  const { scope, setScope } = useScope()
  const { all, clusters } = useCounts()
  const [typed, setTyped] = useState('')
  const [isOpen, setOpen] = useState(false)
  if (all === undefined || all.length < 2) return null
  const chosen = clusters.map(({ name }) => name)
  const isAll = scope.clusters?.[0] === '*'
  const away = new Set(all.filter(({ state }) => state !== 'CONNECTED').map(({ name }) => name))
  const choose = (next: readonly string[]): void => {
    // Namespaces of other clusters are others, even of the same name.
    const isOther = next[0] !== '*' && !next.some((name) => chosen.includes(name))
    setScope({ ...scope, clusters: next, ...(isOther ? { namespaces: [] } : {}) })
  }
  const only = (name: string): void => {
    choose([name])
    setOpen(false)
  }
  const label = isAll
    ? said.allClusters
    : chosen.length === 1 || chosen.join(', ').length <= longest
      ? chosen.join(', ')
      : said.someClusters(chosen.length)
  return (
    <Combobox.Root
      items={all.map(({ name }) => name)}
      multiple
      autoHighlight
      limit={mostShown}
      open={isOpen}
      onOpenChange={setOpen}
      value={isAll ? [] : chosen}
      onValueChange={choose}
      inputValue={typed}
      onInputValueChange={setTyped}
    >
      <Combobox.Trigger
        className={`${controls['quiet']} ${styles['trigger']}`}
        aria-label={`${said.cluster}: ${label}`}
        title={isAll ? label : chosen.join(', ')}
      >
        <Icon name="cluster" />
        <span className={styles['label']}>{label}</span>
        <Icon name="chevron" />
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className={overlay['positioner']} align="start" sideOffset={4}>
          <Combobox.Popup
            className={`${overlay['popup']} ${styles['popup']}`}
            aria-label={said.cluster}
          >
            <Combobox.Input
              className={`${controls['field']} ${styles['find']}`}
              placeholder={said.findCluster}
              aria-label={said.findCluster}
            />
            {isAll ? null : (
              <button
                type="button"
                className={styles['clear']}
                onClick={() => {
                  choose(['*'])
                  setOpen(false)
                }}
              >
                {said.allClusters}
              </button>
            )}
            <Combobox.Empty className={styles['empty']}>
              {said.noCluster(typed.trim())}
            </Combobox.Empty>
            <Combobox.List className={styles['list']}>
              {(name: string) => (
                <Combobox.Item key={name} value={name} className={overlay['item']} title={name}>
                  <span className={overlay['check']}>
                    <Combobox.ItemIndicator>✓</Combobox.ItemIndicator>
                  </span>
                  <span className={styles['name']}>{name}</span>
                  {away.has(name) ? <span className={styles['away']}>{said.away}</span> : null}
                  {/* For the pointer: the keyboard chooses this one and takes back the others. */}
                  <span
                    aria-hidden="true"
                    className={styles['only']}
                    onClick={(event) => {
                      event.stopPropagation()
                      only(name)
                    }}
                  >
                    {said.only}
                  </span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
