/** The arguments of a call: as people read them, as a form, and as JSON. */
import { Exact, ExactText } from '../../parts/exact-text.tsx'
import { Labelled } from '../../parts/labelled.tsx'
import { type ArgumentField, argumentLabel, inJson, typedArgument } from './argument-fields.ts'

type Json = Record<string, unknown>

const InJson = ({ value }: { value: unknown }) => (
  <details className="raw">
    <summary>As JSON</summary>
    <ExactText text={inJson(value)} look="mono" />
  </details>
)

const isPlain = ({ kind }: ArgumentField): boolean => kind !== 'json'

/** Those that the call has. `leftOut`: what is shown by itself. */
export const ArgumentsShown = ({
  fields,
  given,
  leftOut,
}: {
  fields: readonly ArgumentField[]
  given: Json
  leftOut: readonly string[]
}) => {
  const shown = fields.filter(({ name }) => given[name] !== undefined && !leftOut.includes(name))
  return (
    <section className="pane-part" aria-label="Its arguments">
      <h3>Arguments</h3>
      {shown.length === 0 && (
        <p className="soft">{leftOut.length === 0 ? 'None.' : 'None but what is shown above.'}</p>
      )}
      <dl className="fact-list">
        {shown.map((field) => (
          <div key={field.name}>
            <dt>
              <Exact text={argumentLabel(field.name)} />
            </dt>
            <dd>
              <ExactText
                text={typedArgument(field, given[field.name])}
                look={isPlain(field) ? 'plain' : 'mono'}
              />
            </dd>
          </div>
        ))}
      </dl>
      <InJson value={given} />
    </section>
  )
}

interface FieldProps {
  field: ArgumentField
  typed: string
  flaw?: string | undefined
  type(text: string): void
}

const FieldControl = ({ field, typed, flaw, type }: FieldProps) => (
  <Labelled
    label={`${argumentLabel(field.name)}${field.isNeeded ? '' : ' (optional)'}`}
    about={field.kind === 'lines' ? [field.about, 'One a line.'].join(' ').trim() : field.about}
    flaw={flaw}
  >
    {({ id, describedBy, isWrong }) => {
      const shared = {
        id,
        name: field.name,
        value: typed,
        'aria-describedby': describedBy,
        'aria-invalid': isWrong,
        autoComplete: 'off',
        dir: 'auto',
        onChange: ({ target }: { target: { value: string } }) => type(target.value),
      } as const
      if (field.kind === 'choice')
        return (
          <select {...shared}>
            {!(field.isNeeded && typed !== '') && <option value="">–</option>}
            {field.choices!.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        )
      if (field.kind === 'text' || field.kind === 'number' || field.kind === 'whole number')
        return <input {...shared} inputMode={field.kind === 'text' ? 'text' : 'decimal'} />
      return (
        <textarea {...shared} className={field.kind === 'json' ? 'mono' : undefined} rows={2} />
      )
    }}
  </Labelled>
)

interface ArgumentsFormProps {
  fields: readonly ArgumentField[]
  given: Json
  typed: Readonly<Record<string, string>>
  flaws: Readonly<Record<string, string>>
  type(name: string, text: string): void
}

export const ArgumentsForm = ({ fields, given, typed, flaws, type }: ArgumentsFormProps) =>
  fields.map((field) => (
    <FieldControl
      key={field.name}
      field={field}
      typed={typed[field.name] ?? typedArgument(field, given[field.name])}
      flaw={flaws[field.name]}
      type={(text) => type(field.name, text)}
    />
  ))
