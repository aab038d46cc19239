import { Menu } from '@base-ui/react/menu'
import { Popover } from '@base-ui/react/popover'
import { hasToken } from '../gateway/credentials.ts'
import { signInAddress, signOut, useSession } from '../gateway/session.ts'
import { useViewer } from '../gateway/viewer.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { type Theme, useTheme } from '../look/theme.ts'
import { words } from '../words.ts'
import styles from './menus.module.css'

/** Light, dark, or as the system is. */
export function ThemeMenu() {
  const [theme, setTheme] = useTheme()
  const said = words.frame.theme
  return (
    <Menu.Root>
      <Menu.Trigger className={controls['icon']} aria-label={said.title} title={said.title}>
        <Icon name="theme" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={overlay['positioner']} align="end" sideOffset={4}>
          <Menu.Popup className={overlay['popup']}>
            <Menu.RadioGroup
              value={theme}
              onValueChange={(next: Theme) => {
                setTheme(next)
              }}
            >
              {(['system', 'light', 'dark'] as const).map((one) => (
                <Menu.RadioItem key={one} value={one} className={overlay['item']} closeOnClick>
                  <span className={overlay['check']}>
                    <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
                  </span>
                  {said[one]}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/** Who the user is, and what they may see. */
export function WhoMenu() {
  const { user, limitedTo, isPending } = useViewer()
  const session = useSession()
  const said = words.frame.who
  if (isPending) return null
  const name = session.state === 'in' ? session.user.name : user?.name
  return (
    <Popover.Root>
      <Popover.Trigger
        className={controls['icon']}
        aria-label={name === undefined ? said.title : `${said.title}: ${name}`}
        title={name ?? said.title}
      >
        <Icon name="user" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className={overlay['positioner']} align="end" sideOffset={4}>
          <Popover.Popup className={`${overlay['popup']} ${styles['who']}`}>
            <Popover.Title className={styles['name']} title={name}>
              {name ?? said.title}
            </Popover.Title>
            {user === undefined ? (
              <p>{session.state === 'out' ? said.nobody : said.everyone}</p>
            ) : (
              <>
                {user.name === name ? null : <p className={styles['groups']}>{user.name}</p>}
                {user.groups.length === 0 ? null : (
                  <p className={styles['groups']}>
                    {said.groups}: {user.groups.join(', ')}
                  </p>
                )}
                <p>
                  {limitedTo === undefined
                    ? said.all
                    : limitedTo.length === 0
                      ? said.none
                      : said.some(limitedTo)}
                </p>
              </>
            )}
            <div className={styles['ways']}>
              {session.state === 'out' ? (
                <a className={controls['button']} data-kind="main" href={signInAddress()}>
                  {said.signIn}
                </a>
              ) : null}
              {session.state === 'in' ? (
                <a className={controls['button']} href={signInAddress({ again: true })}>
                  {said.switchUser}
                </a>
              ) : null}
              {session.state === 'in' || hasToken() ? (
                <button type="button" className={controls['button']} onClick={() => void signOut()}>
                  {said.signOut}
                </button>
              ) : null}
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
