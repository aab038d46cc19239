/** The mark of the product: that of `icon.svg`, in the tab of the browser. */
export function Mark() {
  return (
    <svg aria-hidden="true" width="20" height="20" viewBox="0 0 32 32" fill="none">
      <rect width="32" height="32" rx="7" fill="#2f6feb" />
      <path d="M9 10h14M9 16h14M9 22h8" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      <circle cx="23" cy="22" r="2.6" fill="#7ee2a8" />
    </svg>
  )
}
