/** What to know before approving. A fault refuses the approval; a warning does not. */
import type { TextCheck } from './checks.ts'
import type { DraftItem } from './item.ts'
import type { Preview } from './use-preview.ts'

interface WarningsProps {
  check: TextCheck
  /** What the server says of what is typed. */
  preview?: Preview | undefined
  /** Of the text on the screen, as far as they are known. */
  warnings?: DraftItem['warnings'] | undefined
}

const price = (micros: number): string => `$${(micros / 1_000_000).toFixed(3)}`

const unseenWords = (names: readonly string[]): string =>
  `${names.length === 1 ? '1 character' : `${names.length.toLocaleString('en')} characters`} nobody can see: ${[...new Set(names)].join(', ')}.`

export const TextWarnings = ({ check, preview, warnings = [] }: WarningsProps) => {
  const faults = [...new Set([...check.faults, ...(preview?.faults ?? [])])]
  const told = warnings.filter(({ code }) => code !== 'unseen_characters')
  return (
    <ul className="warnings" aria-label="Before you approve">
      {faults.map((fault) => (
        <li key={fault} className="is-fault">
          <bdi>{fault}</bdi>
        </li>
      ))}
      {check.unseen.length > 0 && <li>{unseenWords(check.unseen)}</li>}
      {told.map(({ code, message }) => (
        <li key={`${code} ${message}`}>
          <bdi>{message}</bdi>
        </li>
      ))}
      {preview?.cost_micros ? (
        <li className="is-plain">It costs {price(preview.cost_micros)}.</li>
      ) : null}
    </ul>
  )
}
