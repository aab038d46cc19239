import { Menu } from '@base-ui/react/menu'
import { type ReactNode, useEffect, useState } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'

const said = words.viewMenu

/** What else can be done with a view: its operation in GraphiQL or to copy, and the items of the view itself, as a menu. */
export function ViewMenu({
  document,
  variables,
  children,
}: {
  readonly document: { toString(): string }
  readonly variables: Readonly<Record<string, unknown>>
  /** `Menu.Item`s, above the others. */
  readonly children?: ReactNode
}) {
  const { url } = useGateway()
  const query = document.toString().trim()
  const asked = JSON.stringify(variables, undefined, 2)
  const search = new URLSearchParams({ query, variables: asked })
  return (
    <Menu.Root>
      <Menu.Trigger className={controls['icon']} aria-label={said.title} title={said.title}>
        <span aria-hidden="true">⋯</span>
      </Menu.Trigger>
      <Menu.Portal className="informerql">
        <Menu.Positioner align="end" sideOffset={4} className={overlay['positioner']}>
          <Menu.Popup className={overlay['popup']}>
            {children}
            <CopyItem
              label={said.copyGraphQL}
              text={`${query}\n\n# ${said.variables}\n${asked.replaceAll(/^/gm, '# ')}\n`}
            />
            <Menu.Item
              className={overlay['item']}
              render={
                // The item gives it its content.
                // oxlint-disable-next-line jsx-a11y/anchor-has-content
                <a href={`${url}?${search.toString()}`} target="_blank" rel="noreferrer" />
              }
            >
              {words.showQuery}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/** An item that copies a text, and says so before the menu closes. */
export function CopyItem({
  label,
  text,
}: {
  readonly label: string
  readonly text: string | (() => Promise<string>)
}) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
    setCopied(true)
  }
  return (
    <Menu.Item className={overlay['item']} closeOnClick={false} onClick={() => void copy()}>
      {isCopied ? words.object.copied : label}
    </Menu.Item>
  )
}
