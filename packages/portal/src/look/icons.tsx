const paths = {
  overview: 'M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM9 8.5h4.5v5H9zM2.5 11h4.5v2.5H2.5z',
  applications: 'M8 1.8l5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9zM2.5 4.9L8 8l5.5-3.1M8 8v6.2',
  delivery:
    'M2 4h7v7H2zM9 6.5h2.8L14 9v2H9M5 11a1.3 1.3 0 1 1 0 2.6a1.3 1.3 0 0 1 0-2.6M11.5 11a1.3 1.3 0 1 1 0 2.6a1.3 1.3 0 0 1 0-2.6',
  problems: 'M8 2.2L14.2 13H1.8zM8 6.2v3.4M8 11.1v.1',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9M10.3 10.3l3.4 3.4',
  pin: 'M6 2h4M7 2v4L4.5 9h7L9 6V2M8 9v5',
  close: 'M4 4l8 8M12 4l-8 8',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  chevron: 'M4.5 6.5L8 10l3.5-3.5',
  cluster: 'M8 2.2l5 2.9v5.8l-5 2.9l-5-2.9V5.1zM8 6.3a1.7 1.7 0 1 1 0 3.4a1.7 1.7 0 0 1 0-3.4',
  namespace: 'M3 5V3h2M11 3h2v2M13 11v2h-2M5 13H3v-2',
  theme: 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11M8 2.5v11M8 5.2h4.6M8 8h5.4M8 10.8h4.6',
  user: 'M8 2.5a2.7 2.7 0 1 1 0 5.4a2.7 2.7 0 0 1 0-5.4M2.8 13.5c.5-2.6 2.6-4 5.2-4s4.7 1.4 5.2 4',
  certificates:
    'M2.5 3h11v7h-4M2.5 3v7h3M5 5.5h6M7.5 8.2a1.8 1.8 0 1 1 0 3.6a1.8 1.8 0 0 1 0-3.6M6.5 11.6v2.9l1-.8l1 .8v-2.9',
  access: 'M5.2 7.6a2.8 2.8 0 1 1 0 .1M8 7.6h5.5v2.4M11.2 7.6v1.8',
  kind: 'M3 3.5h10v9H3zM3 6.5h10',
  object: 'M8 3.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9',
  action: 'M9 1.8L3.5 9H8l-1 5.2L12.5 7H8z',
  recent: 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 0 1 0-11M8 5v3.2l2.2 1.4',
  rail: 'M2.5 3h11v10h-11zM6 3v10',
  keys: 'M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.3h6',
} as const

export type IconName = keyof typeof paths

/** A small picture beside a word; it says nothing that the word does not. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg aria-hidden="true" width="16" height="16" viewBox="0 0 16 16" fill="none">
      <path
        d={paths[name]}
        stroke="currentColor"
        strokeWidth="1.3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
