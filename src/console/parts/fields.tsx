/** Fields of forms: label, explanation, and what is wrong with the value. */
import { type ComponentProps, type ReactNode, useId } from 'react'

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  label: string
  hint?: ReactNode
  fault?: string | undefined
  change(value: string): void
}

export const TextField = ({ label, hint, fault, change, ...input }: TextFieldProps) => {
  const id = useId()
  const about = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        aria-invalid={fault !== undefined}
        aria-describedby={about || undefined}
        onChange={({ target }) => change(target.value)}
      />
      {hint && (
        <p id={`${id}-hint`} className="soft">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} className="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}

export interface ListedChoice<V extends string> {
  value: V
  says: string
  hint?: string
  /** Why it cannot be chosen; a sentence. */
  refused?: string | undefined
}

interface ChoicesProps<V extends string> {
  legend: string
  hint?: ReactNode
  fault?: string | undefined
  choices: readonly ListedChoice<V>[]
  chosen: readonly V[]
  /** One of them, or several. */
  type: 'radio' | 'checkbox'
  choose(value: V): void
}

export const ChoiceList = <V extends string>({
  legend,
  hint,
  fault,
  choices,
  chosen,
  type,
  choose,
}: ChoicesProps<V>) => {
  const id = useId()
  return (
    <fieldset className="choice-list" aria-describedby={fault ? `${id}-fault` : undefined}>
      <legend>{legend}</legend>
      {hint && <p className="soft">{hint}</p>}
      {choices.map(({ value, says, hint: explained, refused }) => (
        <label key={value}>
          <input
            type={type}
            name={id}
            checked={chosen.includes(value)}
            disabled={refused !== undefined}
            onChange={() => choose(value)}
          />
          <span>
            {says}
            {(refused ?? explained) && <span className="soft">{refused ?? explained}</span>}
          </span>
        </label>
      ))}
      {fault && (
        <p id={`${id}-fault`} className="fault" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  )
}
