/** What to know before approving. A fault refuses the approval; a warning does not. */
import type { TextCheck } from './checks.ts'
import type { DraftItem } from './item.ts'
import type { Preview } from './use-preview.ts'

interface WarningsProps {
  item: DraftItem
  check: TextCheck
  preview: Preview | undefined
  isEdited: boolean
}

const price = (micros: number): string => `$${(micros / 1_000_000).toFixed(3)}`

const unseenWords = (names: readonly string[]): string =>
  `${names.length === 1 ? '1 character' : `${names.length.toLocaleString('en')} characters`} nobody can see: ${[...new Set(names)].join(', ')}.`

/** The server's words where it has been asked about this text, else those of the stored text. */
export const TextWarnings = ({ item, check, preview, isEdited }: WarningsProps) => {
  const faults = [...new Set([...check.faults, ...(preview?.faults ?? [])])]
  const warnings = isEdited ? (preview?.warnings ?? []) : item.warnings
  const told = warnings.filter(({ code }) => code !== 'unseen_characters')
  return (
    <ul className="warnings" aria-label="Before you approve">
      {faults.map((fault) => (
        <li key={fault} className="is-fault">
          {fault}
        </li>
      ))}
      {check.unseen.length > 0 && <li>{unseenWords(check.unseen)}</li>}
      {told.map(({ code, message }) => (
        <li key={`${code} ${message}`}>{message}</li>
      ))}
      {preview?.cost_micros ? (
        <li className="is-plain">It costs {price(preview.cost_micros)}.</li>
      ) : null}
    </ul>
  )
}
