import { Menu } from '@base-ui/react/menu'
import { Popover } from '@base-ui/react/popover'
import { hasToken, signIn } from '../gateway/credentials.ts'
import { endSession, signInAddress, useSession } from '../gateway/session.ts'
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
  const said = words.frame.who
  if (isPending) return null
  return (
    <Popover.Root>
      <Popover.Trigger
        className={controls['icon']}
        aria-label={user === undefined ? said.title : `${said.title}: ${user.name}`}
        title={user?.name ?? said.title}
      >
        <Icon name="user" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className={overlay['positioner']} align="end" sideOffset={4}>
          <Popover.Popup className={`${overlay['popup']} ${styles['who']}`}>
            <Popover.Title className={styles['name']} title={user?.name}>
              {user?.name ?? said.title}
            </Popover.Title>
            {user === undefined ? (
              <p>{said.everyone}</p>
            ) : (
              <>
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
            <SessionAction />
            {hasToken() ? (
              <button
                type="button"
                className={controls['button']}
                onClick={() => {
                  signIn(null)
                }}
              >
                {said.signOut}
              </button>
            ) : null}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

/** Signs in, or out, where the gateway gives sessions. */
function SessionAction() {
  const session = useSession()
  const said = words.frame.who
  if (session?.login === undefined || session.logout === undefined || hasToken()) return null
  const { signedIn, login, logout } = session
  return signedIn ? (
    <button
      type="button"
      className={controls['button']}
      onClick={() => {
        void endSession(logout)
      }}
    >
      {said.signOut}
    </button>
  ) : (
    <a className={controls['button']} href={signInAddress(login)}>
      {said.signIn}
    </a>
  )
}
