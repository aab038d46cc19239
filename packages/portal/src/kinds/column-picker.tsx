import { Menu } from '@base-ui/react/menu'
import controls from '../look/controls.module.css'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'
import type { Columns } from './columns.ts'

/** Chooses the columns of a table. */
export function ColumnPicker({ columns }: { readonly columns: Columns }) {
  const shown = new Set(columns.shown.map(({ id }) => id))
  return (
    <Menu.Root>
      <Menu.Trigger className={controls['quiet']}>{words.table.choose}</Menu.Trigger>
      <Menu.Portal className="informerql">
        <Menu.Positioner className={overlay['positioner']} align="end" sideOffset={4}>
          <Menu.Popup className={overlay['popup']}>
            {columns.all.map(({ id, title, isLink }) => (
              <Menu.CheckboxItem
                key={id}
                className={overlay['item']}
                checked={shown.has(id)}
                disabled={isLink}
                onCheckedChange={() => {
                  columns.toggle(id)
                }}
              >
                <span className={overlay['check']}>
                  <Menu.CheckboxItemIndicator>✓</Menu.CheckboxItemIndicator>
                </span>
                {title}
              </Menu.CheckboxItem>
            ))}
            <Menu.Separator className={overlay['separator']} />
            <Menu.Item className={overlay['item']} onClick={columns.reset}>
              <span className={overlay['check']} />
              {words.table.usualColumns}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
