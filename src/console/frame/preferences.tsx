/** Choices that this browser keeps. */
import { useId } from 'react'
import { singleKeys } from '../keys/use-keys.ts'
import { useStore } from '../parts/store.ts'
import { theme, themes } from './theme.ts'

export const Themes = () => {
  const chosen = useStore(theme)
  const name = useId()
  return (
    <fieldset className="choices">
      <legend>Appearance</legend>
      {themes.map((one) => (
        <label key={one}>
          <input
            type="radio"
            name={name}
            checked={chosen === one}
            onChange={() => theme.set(one)}
          />
          {one.charAt(0).toUpperCase() + one.slice(1)}
        </label>
      ))}
    </fieldset>
  )
}

export const SingleKeys = () => {
  const on = useStore(singleKeys)
  return (
    <label className="switch">
      <input type="checkbox" checked={on} onChange={() => singleKeys.set(!on)} />
      Single keys, such as Z
    </label>
  )
}
