/** Where what is shown comes from, and which account it would go out from. */
import { useAccounts } from './accounts.ts'
import type { Filters } from './entries.ts'
import type { Inbox } from './use-inbox.ts'
import { shownSources, sourceWords } from './words.ts'

export const isFiltered = (filters: Filters): boolean =>
  Object.values(filters).some((value) => value !== undefined)

const SOURCE = 'source'

/** The button that did it goes away, so the focus moves to a filter. */
export const clearFilters = ({ filter }: Inbox): void => {
  filter({})
  document.getElementsByName(SOURCE)[0]?.focus()
}

interface Choice {
  value: string
  says: string
}

interface PickProps {
  name: string
  label: string
  /** What the lack of a choice means. */
  any: string
  choices: readonly Choice[]
  chosen: string | undefined
  choose(value: string | undefined): void
}

const Pick = ({ name, label, any, choices, chosen, choose }: PickProps) => (
  <select
    name={name}
    aria-label={label}
    className={chosen === undefined ? undefined : 'is-chosen'}
    value={chosen ?? ''}
    onChange={({ target }) => choose(target.value || undefined)}
  >
    <option value="">{any}</option>
    {choices.map(({ value, says }) => (
      <option key={value} value={value}>
        {says}
      </option>
    ))}
  </select>
)

const SOURCES = shownSources.map((value) => ({ value, says: sourceWords[value] }))

/** An account that a link names and that is not connected any more can be seen, and left. */
const accountChoices = (
  accounts: ReturnType<typeof useAccounts>,
  chosen: string | undefined,
): Choice[] => [
  ...accounts.map(({ id, handle }) => ({ value: id, says: `@${handle}` })),
  ...(chosen === undefined || accounts.some(({ id }) => id === chosen)
    ? []
    : [{ value: chosen, says: 'An account that is not connected' }]),
]

export const ChosenFilters = ({ inbox }: { inbox: Inbox }) => {
  const { filters, filter } = inbox
  const accounts = useAccounts()
  return (
    <div className="picks">
      <Pick
        name={SOURCE}
        label="Source"
        any="Any source"
        choices={SOURCES}
        chosen={filters.source}
        choose={(value) => filter({ ...filters, source: value as Filters['source'] })}
      />
      {(accounts.length > 1 || filters.account !== undefined) && (
        <Pick
          name="account"
          label="Account"
          any="Every account"
          choices={accountChoices(accounts, filters.account)}
          chosen={filters.account}
          choose={(account) => filter({ ...filters, account })}
        />
      )}
      {isFiltered(filters) && (
        <button type="button" className="link" onClick={() => clearFilters(inbox)}>
          Clear
        </button>
      )}
    </div>
  )
}
