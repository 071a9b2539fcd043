/** A field of a form with its label, what is said of it, and what is wrong with it. */
import { type ReactNode, useId } from 'react'
import { Exact } from './exact-text.tsx'

interface LabelledProps {
  label: string
  about?: string | undefined
  flaw?: string | undefined
  children(ids: { id: string; describedBy: string; isWrong: boolean }): ReactNode
}

export const Labelled = ({ label, about, flaw, children }: LabelledProps) => {
  const id = useId()
  return (
    <div className="labelled">
      <label htmlFor={id}>
        <Exact text={label} />
      </label>
      {children({ id, describedBy: `${id}-about ${id}-flaw`, isWrong: flaw !== undefined })}
      {about !== undefined && (
        <p id={`${id}-about`} className="soft" dir="auto">
          <Exact text={about} />
        </p>
      )}
      {flaw !== undefined && (
        <p id={`${id}-flaw`} className="flaw">
          {label} <Exact text={flaw} />
        </p>
      )}
    </div>
  )
}
