"""Programs that fit the weights in the package. Nothing at run time imports this room."""
