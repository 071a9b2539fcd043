/** Dark or light: as the system, or as chosen in this browser. */
import { createStore } from '../parts/store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const KEPT = 'tendril.theme'

const kept = (): Theme => themes.find((one) => one === localStorage.getItem(KEPT)) ?? 'system'

export const theme = createStore<Theme>(kept())

const apply = (): void => {
  document.documentElement.dataset.theme = theme.get()
}

export const startTheme = (): void => {
  apply()
  theme.subscribe(() => {
    localStorage.setItem(KEPT, theme.get())
    apply()
  })
  window.addEventListener('storage', ({ key }) => {
    if (key === KEPT) theme.set(kept())
  })
}
