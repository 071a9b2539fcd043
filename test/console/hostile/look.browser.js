/** Runs in the page: what hostile texts have done to it, each as a sentence. */
;(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)]
  const flaws = new Set()
  const nameOf = (element) => {
    const says = element.ariaLabel ?? element.innerText ?? ''
    const name = `${element.localName}.${element.className} "${says.slice(0, 40)}"`
    return name.replaceAll(/\s+/g, ' ')
  }
  const isShown = (element) =>
    element.checkVisibility({
      contentVisibilityAuto: true,
      opacityProperty: true,
      visibilityProperty: true,
    })
  const isFor = (element, selector) => element.matches(`${selector}, ${selector} *`)

  /** Nothing of a text has become a part of the page. */
  const lookForMade = () => {
    if (globalThis.ranTimes > 0) flaws.add('a script of a text ran')
    const made =
      'img, iframe, object, embed, svg[onload], script:not([src]):not([type="application/json"])'
    for (const element of all(made)) flaws.add(`${nameOf(element)} came of a text`)
    for (const { href } of all('a[href]'))
      if (!/^https?:/.test(href)) flaws.add(`a link leads to ${href.slice(0, 60)}`)
  }

  /** The rows of kinds and of settings are to be pushed sideways, on a phone. */
  const PUSHED = '.tabs, .settings > nav, textarea, input'

  const lookForWidth = () => {
    const { scrollWidth } = document.documentElement
    if (scrollWidth > innerWidth) flaws.add(`the page is ${scrollWidth} pixels wide`)
    for (const element of all('body *')) {
      const style = getComputedStyle(element)
      if (style.overflowX === 'visible' || style.clipPath !== 'none') continue
      const { scrollWidth: wide, clientWidth: room, scrollHeight: high, clientHeight } = element
      if (element.matches(PUSHED) || room === 0) continue
      const isShortened = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none'
      if (wide > room + 1 && !isShortened)
        flaws.add(`${nameOf(element)} is wider than it shows: ${wide} of ${room}`)
      if (style.overflowY === 'hidden' && high > clientHeight + 2 && !isShortened)
        flaws.add(`${nameOf(element)} is higher than it shows: ${high} of ${clientHeight}`)
    }
  }

  /** What covers the rest while it is open. */
  const uppermost = () =>
    document.querySelector(':popover-open') ?? all('dialog:modal').at(-1) ?? document.body

  const controlsIn = (scope) =>
    all('button, a[href], summary, input, select, textarea', scope).filter(
      (one) =>
        isShown(one) &&
        !one.closest('.unseen, .skip, [inert]') &&
        getComputedStyle(one).clipPath === 'none' &&
        !(one.closest('[popover]') && !one.closest(':popover-open')),
    )

  const isAt = (one, there) =>
    there !== null &&
    (one.contains(there) || there.closest('label')?.contains(one) || there.closest('.toasts'))

  /** Wherever it is scrolled to, it is within the screen, and nothing lies over it. */
  const lookAtControl = (one) => {
    one.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' })
    const rect = [...one.getClientRects()].find(({ width, height }) => width > 0 && height > 0)
    if (!rect) return flaws.add(`${nameOf(one)} has no room`)
    const { left, right, top, bottom } = rect
    if (left < -1 || right > innerWidth + 1)
      return flaws.add(`${nameOf(one)} is beside the screen: ${left | 0} to ${right | 0}`)
    const [x, y] = [(left + right) / 2, (top + bottom) / 2]
    if (y < 0 || y > innerHeight) return flaws.add(`${nameOf(one)} is out of reach at ${y | 0}`)
    const there = document.elementFromPoint(x, y)
    if (!isAt(one, there)) flaws.add(`${nameOf(one)} lies under ${there && nameOf(there)}`)
  }

  const lookAtControls = () => {
    const scrolled = all('*').filter(({ scrollTop, scrollLeft }) => scrollTop || scrollLeft)
    const places = scrolled.map((element) => [element, element.scrollTop, element.scrollLeft])
    const controls = controlsIn(uppermost())
    for (const one of controls) lookAtControl(one)
    for (const element of all('*'))
      if (element.scrollTop || element.scrollLeft) element.scrollTo(0, 0)
    for (const [element, top, left] of places) element.scrollTo(left, top)
  }

  /** The text nodes that are shown. */
  const textNodes = () => {
    const nodes = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode())
      if (isShown(walker.currentNode.parentElement)) nodes.push(walker.currentNode)
    return nodes
  }

  const isTurnedAlone = (node) => {
    for (let at = node.parentElement; at; at = at.parentElement) {
      const { display, unicodeBidi } = getComputedStyle(at)
      if (/isolate|plaintext/.test(unicodeBidi)) return true
      if (!display.startsWith('inline')) return at.textContent.trim() === node.data.trim()
      if (display !== 'inline') return true
    }
    return true
  }

  /** A mark that turns text around ends with its text. Some texts are in several pieces. */
  const lookForTurned = (nodes) => {
    for (const node of nodes)
      if (
        /[\u202e\u2066\u2067]/.test(node.data) &&
        !isFor(node.parentElement, '.layer, .diff, .changed') &&
        !isTurnedAlone(node)
      )
        flaws.add(`${nameOf(node.parentElement)} turns around what is beside it`)
  }

  /** Whether this part of a text lies beyond an edge that nobody can scroll. */
  const isCut = (node, from, to) => {
    const range = document.createRange()
    range.setStart(node, from)
    range.setEnd(node, to)
    const { right, bottom, width } = range.getBoundingClientRect()
    if (width === 0) return true
    for (let at = node.parentElement; at; at = at.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(at)
      if (/auto|scroll/.test(overflowY)) return false
      if (overflowX === 'visible') continue
      const edge = at.getBoundingClientRect()
      if (right > edge.right + 1 || bottom > edge.bottom + 1) return true
    }
    return false
  }

  const fieldsShown = (nodes) => {
    const [seen, whole] = [new Set(), new Set()]
    for (const node of nodes) {
      for (const [, field] of node.data.matchAll(/\[(\w+\.\w+)\]/g)) seen.add(field)
      for (const { 0: end, 1: field, index } of node.data.matchAll(/\[(\w+\.\w+)\.\]/g))
        if (!isCut(node, index, index + end.length)) whole.add(field)
    }
    for (const one of all('input, textarea').filter(isShown)) {
      for (const [, field] of one.value.matchAll(/\[(\w+\.\w+)\]/g)) seen.add(field)
      const isHidden =
        getComputedStyle(one).overflowY === 'hidden' && one.scrollHeight > one.clientHeight + 2
      if (isHidden) flaws.add(`${nameOf(one)} hides what is typed`)
      else for (const [, field] of one.value.matchAll(/\[(\w+\.\w+)\.\]/g)) whole.add(field)
    }
    return { seen: [...seen], whole: [...whole] }
  }

  lookForMade()
  lookForWidth()
  const nodes = textNodes()
  lookForTurned(nodes)
  const shown = fieldsShown(nodes)
  lookAtControls()
  return { flaws: [...flaws], ...shown }
})()
