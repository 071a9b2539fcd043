/** Our own icons: paths on 20 × 20, drawn as lines. */

const PATHS = {
  inbox: 'M3 11.5 5 4.5h10l2 7v4H3zM3 11.5h4a3 3 0 0 0 6 0h4',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  pause: 'M7 5v10M13 5v10',
  play: 'M7 5l8 5-8 5z',
  search: 'M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM13.5 13.5 17 17',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  close: 'M5 5l10 10M15 5 5 15',
  back: 'M12 4l-6 6 6 6',
  chevron: 'M6 8l4 4 4-4',
  check: 'M4 10.5l4 4 8-9',
  warning: 'M10 3l8 14H2zM10 8v4M10 14.5v.01',
  doubt:
    'M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM7.8 7.8a2.2 2.2 0 1 1 3 2.4c-.6.3-.8.7-.8 1.3M10 14v.01',
  person: 'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 17a6.5 6.5 0 0 1 13 0',
  edit: 'M4 16l1-4 8.5-8.5 3 3L8 15z',
  comment: 'M3 4h14v10H9l-4 3v-3H3z',
  outside: 'M11 4h5v5M16 4l-7 7M14 12v4H4V6h4',
  clock: 'M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM10 5.5V10l3 2',
} as const

export type IconName = keyof typeof PATHS

/** Says nothing to screen readers: it stands beside words, or in a control that has a label. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
