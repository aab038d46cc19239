import { Combobox } from '@base-ui/react/combobox'
import { type ComponentProps, type ReactNode, useState } from 'react'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import styles from './name-picker.module.css'

/** More than these are found by typing. */
const mostShown = 200
/** A label with more letters is a number. */
const longest = 26

interface NamePickerProps {
  readonly icon: ComponentProps<typeof Icon>['name']
  /** What the names are of. */
  readonly title: string
  /** All names, in the text typed so far. */
  readonly namesFor: (typed: string) => readonly string[]
  readonly chosen: readonly string[]
  /** The label where none is chosen. */
  readonly noneLabel: string
  /** The label of a number of names. */
  readonly manyLabel: (count: number) => string
  readonly choose: (names: readonly string[]) => void
  readonly find: string
  readonly empty: (typed: string) => string
  /** Chooses none. `close` closes the list. Absent: there is nothing to clear. */
  readonly clear?: { readonly label: string; readonly run: (close: () => void) => void } | undefined
  /** What stands on the line of a name. `close` closes the list. */
  readonly item: (name: string, close: () => void) => ReactNode
}

/** Chooses several of many names, by typing or from a list. */
export function NamePicker({
  icon,
  title,
  namesFor,
  chosen,
  noneLabel,
  manyLabel,
  choose,
  find,
  empty,
  clear,
  item,
}: NamePickerProps) {
  const [typed, setTyped] = useState('')
  const [isOpen, setOpen] = useState(false)
  const text = typed.trim()
  const close = (): void => setOpen(false)
  const all = chosen.join(', ')
  const isShort = chosen.length === 1 || all.length <= longest
  const label = chosen.length === 0 ? noneLabel : isShort ? all : manyLabel(chosen.length)
  return (
    <Combobox.Root
      items={namesFor(text)}
      multiple
      autoHighlight
      limit={mostShown}
      open={isOpen}
      onOpenChange={setOpen}
      value={[...chosen]}
      onValueChange={choose}
      inputValue={typed}
      onInputValueChange={setTyped}
    >
      <Combobox.Trigger
        className={`${controls['quiet']} ${styles['trigger']}`}
        aria-label={`${title}: ${label}`}
        title={all || noneLabel}
      >
        <Icon name={icon} />
        <span className={styles['label']}>{label}</span>
        <Icon name="chevron" />
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className={overlay['positioner']} align="start" sideOffset={4}>
          <Combobox.Popup className={`${overlay['popup']} ${styles['popup']}`} aria-label={title}>
            <Combobox.Input
              className={`${controls['field']} ${styles['find']}`}
              placeholder={find}
              aria-label={find}
            />
            {clear === undefined ? null : (
              <button type="button" className={styles['clear']} onClick={() => clear.run(close)}>
                {clear.label}
              </button>
            )}
            <Combobox.Empty className={styles['empty']}>{empty(text)}</Combobox.Empty>
            <Combobox.List className={styles['list']}>
              {(name: string) => (
                <Combobox.Item key={name} value={name} className={overlay['item']} title={name}>
                  <span className={overlay['check']}>
                    <Combobox.ItemIndicator>✓</Combobox.ItemIndicator>
                  </span>
                  {item(name, close)}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
