import { Combobox } from '@base-ui/react/combobox'
import { useState } from 'react'
import { useNamespaces, useViewer } from '../gateway/viewer.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './scope-picker.module.css'

const said = words.frame.scope
/** More than these are found by typing. */
const mostShown = 200
/** More letters than these are said as a number of namespaces. */
const longest = 26

/** Where the page looks: several namespaces, typed or chosen, or all. */
export function ScopePicker() {
  const { scope, setScope } = useScope()
  const { names, isPending } = useNamespaces()
  const { limitedTo } = useViewer()
  const [typed, setTyped] = useState('')
  const chosen = scope.namespaces ?? []
  const text = typed.trim()
  // A namespace may exist although the user may not list it.
  const all = [...new Set([...chosen, ...names, ...(isName(text) ? [text] : [])])]
  const choose = (namespaces: readonly string[]): void => {
    setScope({ ...scope, namespaces })
  }
  const label =
    chosen.length === 0
      ? limitedTo === undefined
        ? said.all
        : said.allOfYours(limitedTo.length)
      : chosen.length === 1 || chosen.join(', ').length <= longest
        ? chosen.join(', ')
        : said.some(chosen.length)
  return (
    <Combobox.Root
      items={all}
      multiple
      autoHighlight
      limit={mostShown}
      value={[...chosen]}
      onValueChange={choose}
      inputValue={typed}
      onInputValueChange={setTyped}
    >
      <Combobox.Trigger
        className={`${controls['quiet']} ${styles['trigger']}`}
        aria-label={`${said.namespaces}: ${label}`}
        title={chosen.join(', ') || said.all}
      >
        <Icon name="namespace" />
        <span className={styles['label']}>{label}</span>
        <Icon name="chevron" />
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className={overlay['positioner']} align="start" sideOffset={4}>
          <Combobox.Popup
            className={`${overlay['popup']} ${styles['popup']}`}
            aria-label={said.namespaces}
          >
            <Combobox.Input
              className={`${controls['field']} ${styles['find']}`}
              placeholder={said.find}
              aria-label={said.find}
            />
            {chosen.length === 0 ? null : (
              <button
                type="button"
                className={styles['clear']}
                onClick={() => {
                  choose([])
                }}
              >
                {said.clear}
              </button>
            )}
            <Combobox.Empty className={styles['empty']}>
              {isPending ? said.loading : said.none(text)}
            </Combobox.Empty>
            <Combobox.List className={styles['list']}>
              {(name: string) => (
                <Combobox.Item key={name} value={name} className={overlay['item']} title={name}>
                  <span className={overlay['check']}>
                    <Combobox.ItemIndicator>✓</Combobox.ItemIndicator>
                  </span>
                  <span className={styles['name']}>
                    {names.includes(name) || chosen.includes(name) ? name : said.use(name)}
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

/** Whether a text may be the name of a namespace: a DNS label. */
function isName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}
