import type { Here } from './router.tsx'

export interface PageProps {
  here: Here
}
