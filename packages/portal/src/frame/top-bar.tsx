import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import { words } from '../words.ts'
import { ClusterPicker } from './cluster-picker.tsx'
import { Keys } from './keys-dialog.tsx'
import { LineState } from './line-state.tsx'
import { ThemeMenu, WhoMenu } from './menus.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { usePinThisView } from './rail.tsx'
import styles from './top-bar.module.css'

/** The scope, the search, the state of the line, the theme, and who the user is. */
export function TopBar({
  isRailShown,
  toggleRail,
  openSearch,
  openKeys,
}: {
  readonly isRailShown: boolean
  readonly toggleRail: () => void
  readonly openSearch: () => void
  readonly openKeys: () => void
}) {
  const said = words.frame
  const rail = isRailShown ? said.rail.fold : said.rail.unfold
  return (
    <header className={styles['bar']}>
      <button
        type="button"
        className={controls['icon']}
        aria-label={rail}
        title={`${rail} ( [ )`}
        onClick={toggleRail}
      >
        <Icon name="rail" />
      </button>
      <ClusterPicker />
      <ScopePicker />
      <button
        type="button"
        className={styles['search']}
        aria-haspopup="dialog"
        onClick={openSearch}
      >
        <Icon name="search" />
        <span className={styles['hint']}>{said.searchHint}</span>
        <span className={styles['key']} aria-hidden="true">
          <Keys keys="mod+k" />
        </span>
      </button>
      <PinButton />
      <LineState />
      <button
        type="button"
        className={`${controls['icon']} ${styles['wide']}`}
        aria-label={said.keys.show}
        title={`${said.keys.show} ( ? )`}
        onClick={openKeys}
      >
        <Icon name="keys" />
      </button>
      <ThemeMenu />
      <WhoMenu />
    </header>
  )
}

/** Keeps the view that is shown in the rail, with its filter and scope. */
function PinButton() {
  const { isPinned, toggle } = usePinThisView()
  const said = words.frame.rail
  return (
    <button
      type="button"
      className={`${controls['icon']} ${styles['wide']} ${isPinned ? styles['pressed'] : ''}`}
      aria-label={said.pin}
      aria-pressed={isPinned}
      title={`${isPinned ? said.unpinThis : said.pin} ( P )`}
      onClick={toggle}
    >
      <Icon name="pin" />
    </button>
  )
}
