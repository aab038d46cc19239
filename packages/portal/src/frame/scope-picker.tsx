import { useNamespaces, useViewer } from '../gateway/viewer.ts'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import { NamePicker } from './name-picker.tsx'
import styles from './name-picker.module.css'

const said = words.frame.scope

/** Where the page looks: several namespaces, typed or chosen, or all. */
export function ScopePicker() {
  const { scope, setScope } = useScope()
  const { names, isPending } = useNamespaces()
  const { limitedTo } = useViewer()
  const chosen = scope.namespaces ?? []
  const choose = (namespaces: readonly string[]): void => {
    setScope({ ...scope, namespaces })
  }
  return (
    <NamePicker
      icon="namespace"
      title={said.namespaces}
      // A namespace may exist although the user may not list it.
      namesFor={(typed) => [...new Set([...chosen, ...names, ...(isName(typed) ? [typed] : [])])]}
      chosen={chosen}
      noneLabel={limitedTo === undefined ? said.all : said.allOfYours(limitedTo.length)}
      manyLabel={said.some}
      choose={choose}
      find={said.find}
      empty={(typed) => (isPending ? said.loading : said.none(typed))}
      clear={chosen.length === 0 ? undefined : { label: said.clear, run: () => choose([]) }}
      item={(name) => (
        <span className={styles['name']}>
          {names.includes(name) || chosen.includes(name) ? name : said.use(name)}
        </span>
      )}
    />
  )
}

/** Whether a text may be the name of a namespace: a DNS label. */
function isName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}
